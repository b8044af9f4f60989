/**
 * The byte limit of large texts in one statement's answer. The process parses and writes that much without a pause.
 * The last text may exceed it. A list reads the rest in further statements, a batch in its next round.
 */
export const byteBudget = 1024 * 1024;

/** A condition: whether the rows before this one have left some of the budget. Each row has its own position. */
export function isWithinBudget(bytes: string, place: string): string {
  return `sum(${bytes}) over (order by ${place} rows unbounded preceding) - ${bytes} < ${byteBudget}`;
}
