import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveIn } from '@florin/protocol/machine.ts';
import { reportStatuses } from '@florin/protocol/report-api.ts';
import { reportMoves, reportTriggers } from './report.machine.ts';

const expected = new Map<string, string>([
  ['pending finish', 'ready'],
  ['pending fail', 'failed'],
]);

test('the table is total: every pair of status and trigger either moves as written or is refused', () => {
  for (const status of reportStatuses)
    for (const trigger of reportTriggers)
      assert.equal(moveIn(reportMoves, status, trigger)?.to, expected.get(`${status} ${trigger}`));
});
