package memory_test

import (
	"testing"

	"github.com/broker-rails/broker-rails/internal/gate"
	"github.com/broker-rails/broker-rails/internal/store/memory"
	"github.com/broker-rails/broker-rails/internal/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) gate.Store { return memory.New() })
}
