import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from '@florin/protocol/order.ts';
import { keccak256 } from 'viem';
import { isAcceptedBuild } from './accepted-build.ts';
import { readArtifact } from './contract-plan.ts';

test("the code of this release and of a listed earlier one is accepted, whatever the constructor's values", () => {
  const { deployedBytecode, immutableReferences } = readArtifact('CctpRoute');
  const [{ start } = { start: 0 }] = immutableReferences;
  assert.notEqual(start, 0);
  const withValue = (code: Hex): Hex =>
    `0x${code.slice(2, 2 + 2 * start)}ff${code.slice(4 + 2 * start)}` as Hex;
  const former: Hex = `${deployedBytecode}00`;
  const listed = [{ codeHash: keccak256(former), immutableReferences }];
  assert.equal(isAcceptedBuild('CctpRoute', withValue(deployedBytecode)), true);
  assert.equal(isAcceptedBuild('CctpRoute', withValue(former)), false);
  assert.equal(isAcceptedBuild('CctpRoute', withValue(former), listed), true);
  assert.equal(isAcceptedBuild('CctpRoute', `${former}00`, listed), false);
  assert.equal(isAcceptedBuild('CctpRoute', '0x', listed), false);
});
