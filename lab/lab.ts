/** What tests of others use of the lab. */

export { type SeededRandom, seededRandom } from './simulation/seeded-random.ts';
