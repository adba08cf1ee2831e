/*
 * Decide, journal, forward: two processes share one journal, either may die between
 * any two steps, an append may fail with or without effect, a message or its answer may
 * be lost or late, and the operator halts at any moment. docs/model.md says which
 * function of internal/gate each step stands for.
 *
 * Each defence can be taken away with -D; check.sh demands a counterexample for each.
 */
#define ORDERS 2 /* client order ids; each order is for one unit */
#define CAP 1
#ifndef CALLS
#define CALLS 2 /* calls a process serves */
#endif

/* What the journal knows of an order. flight, doubt and working hold a reservation. */
#define none 0
#define flight 1
#define doubt 2
#define working 3
#define over 4 /* rejected, or not sent */

/* The journal: durable. A status is a fold of entries, seq is the head. */
byte seq;
byte status[ORDERS];
bit halted;

/* The broker and the wire. */
byte messages[ORDERS]; /* on the wire, not yet arrived */
byte sends[ORDERS];
bit taken[ORDERS];
bit refused[ORDERS];
byte accepted;

/* Ghosts, read only by assertions and by the passing of time. */
bit decided[ORDERS]; /* a decision of it is durable */
bit live[ORDERS];    /* a permit for it may still be burned */
byte crashes = 1;
byte failures = 1;
byte finished;

#ifdef DROP_RESERVATION
#define held(i) (status[i] == flight || status[i] == working)
#else
#define held(i) (status[i] == flight || status[i] == doubt || status[i] == working)
#endif
#define room (held(0) + held(1) < CAP)
#define settled(i) (status[i] != flight && status[i] != doubt)

#define MAYDIE if :: crashes > 0 -> atomic { crashes--; goto died } :: true fi

inline submit(i) {
	assert(decided[i]);        /* no submit without a durable decision */
	assert(!halted_at_check);  /* none after a halt was durable before the check */
	sends[i]++;
	assert(sends[i] <= 1);     /* none twice */
	messages[i]++
}

proctype gate() {
	byte calls, id, seen, uses;
	bit ok, wrote, halted_at_check, expired, mine;
next:
	atomic { id = 0; seen = 0; uses = 0; ok = 0; wrote = 0; halted_at_check = 0; expired = 0; mine = 0 };
	if
	:: calls == CALLS -> goto done
	:: calls < CALLS
	fi;
	atomic {
		calls++;
		if :: id = 0 :: id = 1 fi
	};
again:
	/* Decide on the fold of the journal at its head. */
	atomic {
		seen = seq;
		ok = (!halted && status[id] == none && room)
	};
	if :: !ok -> goto next :: ok fi;
	MAYDIE;
#ifdef FORWARD_FIRST
	atomic { submit(id) };
#endif
	/* Journal by compare-and-swap. */
	atomic {
		if
#ifndef NO_CAS
		:: seq != seen -> goto again
		:: seq == seen ->
#else
		:: true ->
#endif
			if
			:: wrote = 1
			:: failures > 0 -> failures--; ok = 0
			:: failures > 0 -> failures--; ok = 0; wrote = 1
			fi
		fi;
		if
		:: wrote -> seq++; status[id] = flight; decided[id] = 1
		:: else
		fi;
#ifdef TRUST_FAILED
		ok = 1;
#endif
		if :: ok -> live[id] = 1; mine = 1 :: else fi
	};
	if :: !ok -> goto next :: ok fi;
	MAYDIE;
forward:
	/* Burn the permit: it may have grown old meanwhile. */
	atomic {
		uses++;
		if :: expired = 0 :: expired = 1 fi
	};
	if :: expired -> goto unsent :: else fi;
	MAYDIE;
	/* Read the heads again. */
	atomic {
		halted_at_check = halted;
#ifndef NO_REREAD
		if :: halted -> goto unsent :: else fi
#endif
	};
	MAYDIE;
#ifndef FORWARD_FIRST
	atomic { submit(id) };
#endif
	MAYDIE;
	/* The answer, or none in time: then it is in doubt. */
	if
	:: atomic { taken[id] -> status[id] = working; seq++ }
	:: atomic { refused[id] -> status[id] = over; seq++ }
	:: atomic { true ->
		if :: status[id] == flight -> status[id] = doubt; seq++ :: else fi }
#ifdef RESEND
		; atomic { submit(id) }
#endif
	:: failures > 0 -> failures-- /* the outcome cannot be written */
	fi;
	MAYDIE;
#ifdef NOT_BURNED
	if :: uses < 2 -> goto forward :: true fi;
#endif
	live[id] = 0;
	goto next;
unsent:
	atomic {
		if :: status[id] == flight -> status[id] = over; seq++ :: else fi;
		live[id] = 0
	};
	goto next;
died:
	/* All memory is lost, the permit with it; the next start folds the journal. */
	atomic { if :: mine -> live[id] = 0 :: else fi; goto next };
done:
	finished++
}

/* A message arrives late, is refused, or is lost. */
active proctype broker() {
	byte i;
end:
	do
	:: atomic { messages[0] > 0 -> i = 0; goto arrived }
	:: atomic { messages[1] > 0 -> i = 1; goto arrived }
	od;
arrived:
	atomic {
		messages[i]--;
		if
		:: taken[i] = 1; accepted++; assert(accepted <= CAP)
		:: refused[i] = 1
		:: true
		fi
	};
	goto end
}

/* Who is not found is over only when no message of it can come any more: its permit has
 * expired and the time for a reply has passed. */
#ifdef EARLY
#define gone(i) (status[i] == doubt && !taken[i] && !refused[i])
#else
#define gone(i) (!settled(i) && !live[i] && messages[i] == 0 && !taken[i] && !refused[i])
#endif

#define RECONCILE(i) \
	:: atomic { !settled(i) && taken[i] -> status[i] = working; seq++ } \
	:: atomic { !settled(i) && refused[i] -> status[i] = over; seq++ } \
	:: atomic { gone(i) -> status[i] = over; seq++ }

active proctype reconciler() {
end:
	do
	RECONCILE(0)
	RECONCILE(1)
	od
}

active proctype operator() {
	if
	:: atomic { halted = 1; seq++ }
	:: true
	fi
}

init { atomic { run gate(); run gate() } }

/* While processes live and the broker answers, every call ends and nothing stays open. */
ltl ends { <> [] (finished == 2 && settled(0) && settled(1)) }
