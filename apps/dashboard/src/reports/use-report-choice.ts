import { serviceNow } from '../api/service-clock.ts';
import { useRead } from '../api/use-call.ts';
import { useFilters } from '../app/use-filters.ts';
import { latestMonths, monthTimes, type Period, periodOfDays, periodOfMonth } from './period.ts';

/** The time and the wallet that the address names. This month when it names none. */
export function useReportChoice() {
  const filters = useFilters(['month', 'from', 'to', 'account']);
  const { month, from, to, account } = filters.values;
  const thisMonth = latestMonths(new Date(serviceNow()))[0] ?? '';
  const isDays = month === 'days';
  const chosen: Period | string = isDays
    ? periodOfDays(from, to)
    : (periodOfMonth(month === '' ? thisMonth : month) ?? 'Choose a month.');
  const period = typeof chosen === 'string' ? undefined : chosen;
  const times = period === undefined ? [] : monthTimes(period);
  const accounts = useRead('GET /account/list', {});
  const body = { times, ...(account === '' ? {} : { accountId: account }) };
  return {
    ...{ filters, isDays, period, times, accounts, body, account },
    month: month === '' ? thisMonth : month,
    problem: typeof chosen === 'string' ? chosen : undefined,
  };
}
