import type { RetentionPolicy } from '#service/options.ts';
import type { Fields } from './field.ts';

/** Reads `retention`: how long what grows stays where it is; see docs/runbook/growth.md. */
export function retentionOf(fields: Fields): RetentionPolicy {
  const days = (name: string, least: number, fallback: number) =>
    fields.integer(name, { least, most: 36_500, fallback });
  return {
    // A deposit that comes late is accepted for a week at most after it was seen, and a session lasts 30 days at most.
    unpaidAfterDays: days('unpaidSessionsDays', 30, 90),
    paidAfterDays: days('paidSessionsDays', 90, 730),
    emailsAfterDays: days('payerEmailDays', 30, 730),
    networksAfterDays: days('payerNetworkDays', 2, 30),
  };
}
