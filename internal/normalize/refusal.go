package normalize

import "fmt"

// Code is an integrity refusal that a call can earn before it is an intent.
type Code string

// Codes. They are denials: no operator can switch them off.
const (
	MalformedCall     Code = "malformed_call"     // not one JSON object of the tool's shape
	UnknownTool       Code = "unknown_tool"       // no such tool here
	UnknownArgument   Code = "unknown_argument"   // an argument that the tool does not have
	InvalidNumber     Code = "invalid_number"     // not a plain decimal, or out of range
	ConflictingFields Code = "conflicting_fields" // fields that contradict each other, or one that is missing
)

// Refusal says why a call is no intent. Field is one of the tool's own names, never
// the caller's text. Problem is ours.
type Refusal struct {
	Code    Code
	Field   string
	Problem string
}

func (r *Refusal) Error() string {
	if r.Field == "" {
		return fmt.Sprintf("%s: %s", r.Code, r.Problem)
	}
	return fmt.Sprintf("%s: %s %s", r.Code, r.Field, r.Problem)
}
