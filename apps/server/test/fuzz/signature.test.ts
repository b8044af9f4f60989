import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzFactor } from './seed.ts';
import { fuzzSignatures } from './signature-fuzz.ts';

test('the service takes the signatures that viem and ethers take, in one form, and no others', async () => {
  const { accepted, differences, byName } = await fuzzSignatures({ seed: 20_260_101, cases });
  assert.deepEqual(differences, []);
  // Neither a comparison of nothing with nothing, nor of one kind of request alone.
  assert.ok(accepted > cases / 20);
  assert.equal(Object.keys(byName).length, kindsOfCases);
});

/** A second; `npm run fuzz-signatures` makes a long run. */
const cases = 3_000 * fuzzFactor;
const kindsOfCases = 34;
