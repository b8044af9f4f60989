import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportStatuses } from '@florin/protocol/report-api.ts';
import { reportStatusAfter, reportTriggers } from './report.machine.ts';

const expected = new Map<string, string>([
  ['pending finish', 'ready'],
  ['pending fail', 'failed'],
]);

test('the table is total: every pair of status and trigger either moves as written or is refused', () => {
  for (const status of reportStatuses)
    for (const trigger of reportTriggers)
      assert.equal(reportStatusAfter(status, trigger), expected.get(`${status} ${trigger}`));
});
