package cli

import (
	"context"

	"github.com/broker-rails/broker-rails/internal/adversary"
)

func (a *app) randomAttack(ctx context.Context, f *adversarialFlags, o adversary.Options) error {
	return nil
}
