/** One row of a transition table: a status, a trigger and the next status. */
export interface Move<Status extends string, Trigger extends string> {
  readonly from: Status;
  readonly trigger: Trigger;
  readonly to: Status;
}

/** The row for a status and a trigger; undefined when there is none, which means that the trigger is refused. */
export function moveIn<Row extends Move<string, string>>(
  table: readonly Row[],
  from: Row['from'],
  trigger: Row['trigger'],
): Row | undefined {
  return table.find((row) => row.from === from && row.trigger === trigger);
}

/**
 * A trigger's rows for a constant SQL statement: `update … set status = {to} where status in ({from})`. Constants,
 * because PostgreSQL uses a partial index only for a status in the text. Throws RangeError unless the trigger leads to
 * exactly one status.
 */
export function sqlMove<Row extends Move<string, string>>(
  table: readonly Row[],
  trigger: Row['trigger'],
): { readonly from: string; readonly to: string } {
  const rows = table.filter((row) => row.trigger === trigger);
  const [to, ...others] = new Set(rows.map((row) => row.to));
  if (to === undefined || others.length > 0) throw new RangeError(`${trigger} leads to no single status`);
  return { from: rows.map(({ from }) => `'${from}'`).join(', '), to: `'${to}'` };
}
