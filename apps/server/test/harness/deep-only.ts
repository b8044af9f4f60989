import type { TestOptions } from 'node:test';

/** Whether this is `npm run test:deep`, where loops over many cases take them all. */
export const isDeepRun = process.env['FLORIN_DEEP'] === '1';

/**
 * The options of a test that measures depth: a further way, screen or crash point of what other tests prove once. It runs in
 * `npm run test:deep`, and wherever FLORIN_DEEP is 1.
 */
export const deepOnly: TestOptions = {
  skip: isDeepRun ? false : 'it runs in npm run test:deep',
};
