import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counterDigits, counterMark } from './load-plan.ts';
import { type Figures, type Measured, median } from './measure.ts';
import { ratioOf, replaceSection } from './report.ts';
import { composeBody } from './session.ts';

function measured(name: string, figures: Partial<Figures>): Measured {
  const none = { perSecond: 0, p50Ms: 0, p99Ms: 0, serverMicroseconds: 0, postgresMicroseconds: 0 };
  return { name, requestBytes: 0, replyBytes: 0, median: { ...none, ...figures }, runs: [] };
}

test('the median of an even number of runs is the lower middle one', () => {
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([4, 1, 3, 2]), 2);
});

test('a ratio is the product over the limit in throughput, and the limit over the product in processor time', () => {
  const both = [
    measured('limit', { perSecond: 1000, serverMicroseconds: 60, postgresMicroseconds: 40 }),
    measured('product', { perSecond: 500, serverMicroseconds: 120, postgresMicroseconds: 130 }),
  ];
  assert.deepEqual(ratioOf(both, { product: 'product', limit: 'limit', wanted: 0.4 }), {
    name: 'product / limit',
    value: 0.5,
    byProcessorTime: 0.4,
    wanted: 0.4,
  });
});

test("a subject's section is added once and replaced afterwards", () => {
  const once = replaceSection('# Benchmarks\n', 'route', 'first');
  assert.equal(once, '# Benchmarks\n\n<!-- route -->\nfirst\n<!-- end of route -->\n');
  assert.equal(
    replaceSection(once, 'route', 'second'),
    '# Benchmarks\n\n<!-- route -->\nsecond\n<!-- end of route -->\n',
  );
});

test('a create request has 617 bytes, regardless of its counter', () => {
  const body = composeBody({
    accountId: `acc_${'0'.repeat(22)}`,
    productId: `prd_${'0'.repeat(22)}`,
    settlementToken: 'ethereum::usdc',
  });
  assert.equal(body.replace(counterMark, '1'.repeat(counterDigits)).length, 617);
});
