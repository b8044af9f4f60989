import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzFactor } from './seed.ts';
import { fuzzSignatures } from './signature-fuzz.ts';

test('the service accepts exactly the signatures that viem and ethers accept, in one form', async () => {
  const { accepted, differences, byName } = await fuzzSignatures({ seed: 20_260_101, cases });
  assert.deepEqual(differences, []);
  // Neither an empty comparison, nor requests of only one kind.
  assert.ok(accepted > cases / 20);
  assert.equal(Object.keys(byName).length, kindsOfCases);
});

/** Half a second; `npm run fuzz-signatures` makes a long run. */
const cases = fuzzFactor === 1 ? 750 : 1_500 * fuzzFactor;
const kindsOfCases = 34;
