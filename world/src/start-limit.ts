/** Only for a process that hangs: one that ends is reported at once. */
const DEFAULT_SECONDS = 180;

/** How long a process of the world may take until it is ready. */
export interface StartLimit {
  readonly ms: number;
  /** What to say when it has passed. */
  readonly sentence: string;
}

/** The limit of `FLORIN_START_SECONDS`, which the owner of a slow machine raises; three minutes when absent. Refuses what is no time. */
export const readStartLimit = (text = process.env['FLORIN_START_SECONDS']): StartLimit => {
  const seconds = text === undefined || text === '' ? DEFAULT_SECONDS : Number(text);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 86_400)
    throw new Error(`FLORIN_START_SECONDS=${text} is no number of seconds from 1 to 86400.`);
  return {
    ms: seconds * 1_000,
    sentence: `was not ready within ${seconds} s; a slow machine needs more in FLORIN_START_SECONDS`,
  };
};
