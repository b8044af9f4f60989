/** The parts of the lab that other rooms' tests use. */

export { type SeededRandom, seededRandom } from './simulation/seeded-random.ts';
