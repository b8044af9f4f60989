/**
 * Bytes of large texts that one statement gives, but for a last text that goes beyond: what a process takes at once, parses
 * and writes without a pause. A list asks for the rest in further statements, a batch in its next round.
 */
export const byteBudget = 1024 * 1024;

/** A condition: whether the budget is not used up by the rows before this one. Rows have no two places alike. */
export function isWithinBudget(bytes: string, place: string): string {
  return `sum(${bytes}) over (order by ${place} rows unbounded preceding) - ${bytes} < ${byteBudget}`;
}
