import type { TestOptions } from 'node:test';

/**
 * The options of a test that measures depth: a further way, screen or crash point of what other tests prove once. It runs in
 * `npm run test:deep`, and wherever FLORIN_DEEP is 1.
 */
export const deepOnly: TestOptions = {
  skip: process.env['FLORIN_DEEP'] === '1' ? false : 'it runs in npm run test:deep',
};
