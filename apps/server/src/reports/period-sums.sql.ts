import { statement } from '@florin/pg';
import { soleTurn } from '#db/advisory-lock.ts';

const sums = {
  period: 'int4',
  kind: 'text',
  token_id: 'text',
  payments: 'int8',
  total_value: 'numeric',
  fee_value: 'numeric',
  net_value: 'numeric',
} as const;

const hourOf = (time: string) => `date_trunc('hour', ${time}, 'UTC')`;
const isInTimes = (time: string) =>
  `${time} >= (:times::timestamptz[])[1] and ${time} < (:times::timestamptz[])[cardinality(:times::timestamptz[])]`;

/**
 * The common table `moved`: what was received and settled between the first and the last of `:times`, by hour or by
 * payment. Hours in which a period begins or ends within the hour are read payment by payment, and no other. Payments that
 * are not added to their hour yet stand by themselves; they are few, and so are those that
 * a reorg below finality took back, which are subtracted. The offset keeps PostgreSQL from reading all
 * payments of the merchant for each hour.
 */
function movedText({ columns, values }: { readonly columns: string; readonly values: string }): string {
  return `cut as materialized (
     select distinct ${hourOf('time')} as hour from unnest(:times::timestamptz[]) as time where ${hourOf('time')} <> time
   ), moved as (
     select hour as at, ${columns}, payments, total_value, fee_value, net_value from summary_hours
     where merchant_id = :merchantId and ${isInTimes('hour')} and hour not in (select hour from cut)
     union all
     select at, ${columns}, payments, total_value, fee_value, net_value from summary_changes
     where merchant_id = :merchantId and ${isInTimes('at')} and ${hourOf('at')} not in (select hour from cut)
     union all
     select at, ${columns}, 1, total_value, fee_value, net_value from cut cross join lateral (
       ${values} where v.merchant_id = :merchantId and v.at >= cut.hour and v.at < cut.hour + interval '1 hour'
       offset 0) as value
     where ${isInTimes('at')}
   )`;
}

const periodAndSums = `width_bucket(at, :times::timestamptz[]) - 1 as period`;
const sumColumns = `sum(payments)::int8 as payments, sum(total_value) as total_value, sum(fee_value) as fee_value,
     sum(net_value) as net_value`;

// A million payments have some ten thousand hours.
export const sumsOfPeriods = statement({
  name: 'report_period_sums',
  parameters: { merchantId: 'text', times: 'timestamptz[]' },
  columns: sums,
  text: `with ${movedText({ columns: 'kind, token_id', values: 'select v.* from summary_values v' })}
   select ${periodAndSums}, kind, token_id, ${sumColumns} from moved
   group by 1, kind, token_id having sum(payments) <> 0 order by period, kind, token_id`,
});

// Payments that are read one by one have their account in their session. Refunds have an index by the time of their completion.
// A second payment of a session is not received here, so its return is not sent back either.
export const sumsOfAccounts = statement({
  name: 'report_account_sums',
  parameters: { merchantId: 'text', accountId: 'text', times: 'timestamptz[]' },
  columns: { ...sums, account_id: 'text', account_name: 'text' },
  text: `with ${movedText({
    columns: 'kind, token_id, account_id',
    values: 'select v.*, s.account_id from summary_values v join sessions s on s.session_id = v.session_id',
  })}, sent_back as (
     select r.updated_at, 'refunded', s.paid_token, s.account_id, 1, r.amount, 0, 0
     from refunds r join sessions s on s.session_id = r.session_id and s.order_id = r.order_id
     where r.merchant_id = :merchantId and r.status = 'completed' and ${isInTimes('r.updated_at')}
   ), summed as (
     select ${periodAndSums}, kind, token_id, ${sumColumns}, account_id
     from (select * from moved union all select * from sent_back) as moved
     where :accountId = '' or account_id = :accountId
     group by 1, kind, token_id, account_id having sum(payments) <> 0
   )
   select summed.*, account_name from summed join accounts using (account_id) order by period, account_id, token_id, kind`,
});

/** One worker at a time: two could deadlock on the same hours. */
export const lockHourSums = soleTurn('hourSums');

/** Adds payments to their hours, and returns their number. */
export const addHourChanges = statement({
  name: 'report_hours_add',
  parameters: { limit: 'int8' },
  columns: { taken: 'int8' },
  text: `with taken as (
     delete from summary_changes where ctid = any (array(select ctid from summary_changes limit :limit)) returning *
   ), added as (
     insert into summary_hours as known (merchant_id, hour, kind, account_id, token_id, payments, total_value, fee_value, net_value)
     select merchant_id, ${hourOf('at')}, kind, account_id, token_id, sum(payments), sum(total_value), sum(fee_value), sum(net_value)
     from taken group by 1, 2, 3, 4, 5
     on conflict (merchant_id, hour, kind, account_id, token_id) do update set
       payments = known.payments + excluded.payments, total_value = known.total_value + excluded.total_value,
       fee_value = known.fee_value + excluded.fee_value, net_value = known.net_value + excluded.net_value
   )
   select count(*) as taken from taken`,
});
