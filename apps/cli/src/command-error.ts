/** A command that failed; one sentence for the operator. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** A command line that is not understood. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
