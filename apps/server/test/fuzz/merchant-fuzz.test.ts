import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type IdKind, idTokenPattern, type Operation, operations } from './operation.ts';
import { type FuzzRequest, hostileRequest, nearValidRequest, validRequest } from './request.ts';
import { fuzzFactor, seedNote, seedSequence } from './seed.ts';
import { Target, unknownId } from './target.ts';

/** Requests of each kind to each operation: few in `npm test`. */
const portion = fuzzFactor === 1 ? 1 : 4 * fuzzFactor;
const runs = {
  valid: portion,
  nearValid: fuzzFactor === 1 ? 1 : 2 * portion,
  hostile: portion,
  foreignIds: fuzzFactor === 1 ? 1 : 4,
};

let target: Target;
/** A seed for each property, in the order of the runs. */
const nextSeed = seedSequence();
before(async (context) => {
  target = await Target.open();
  if ('diagnostic' in context) context.diagnostic(seedNote());
});
after(() => target.close());

async function holds(
  operation: Operation,
  request: fc.Arbitrary<FuzzRequest>,
  numRuns: number,
): Promise<void> {
  const property = fc.asyncProperty(request, async (sent) => {
    const exchange = await target.send(sent);
    assert.deepEqual(
      target.judge(exchange),
      [],
      `${operation.id}: ${JSON.stringify(exchange.sent)} -> ${exchange.text}; ${seedNote()}`,
    );
  });
  await fc.assert(property, { numRuns, endOnFailure: true, seed: nextSeed() });
}

test('no request breaks an operation: the answer is as documented, and a refusal changes nothing', async (t) => {
  const before = await target.journal.tables();
  for (const [index, operation] of operations.entries()) {
    await t.test(operation.id, async () => {
      // Reads use up nothing, and few writes little.
      const isStocked = fuzzFactor === 1 && index % writesPerStock !== 0;
      if (operation.route.method === 'POST' && !isStocked) await target.restock();
      await holds(operation, validRequest(operation), runs.valid);
      await holds(operation, nearValidRequest(operation), runs.nearValid);
      await holds(operation, hostileRequest(operation), runs.hostile);
      // The ids of requests are random: when no request was accepted yet, more valid ones are tried.
      for (let round = 0; round < moreRounds && isMissed(operation); round += 1) {
        await holds(operation, validRequest(operation), runs.valid);
      }
    });
  }
  assert.deepEqual(Object.keys(await target.journal.tables()), Object.keys(before));
  const { requests, taken, unexpected5xx, schemaMisses, crossTenantReads } = target.figures;
  const takenInAll = [...taken.values()].reduce((sum, count) => sum + count, 0);
  t.diagnostic(
    `${requests} requests, ${takenInAll} taken: ${unexpected5xx} unexpected 5xx, ${schemaMisses} schema misses, ` +
      `${crossTenantReads} cross-tenant reads`,
  );
  assert.deepEqual(
    { unexpected5xx, schemaMisses, crossTenantReads },
    { unexpected5xx: 0, schemaMisses: 0, crossTenantReads: 0 },
  );
  // A generator whose requests are all refused proves little.
  const neverTaken = operations.map(({ id }) => id).filter((id) => !taken.has(id));
  assert.deepEqual(neverTaken, []);
});

const moreRounds = 200;
/** In `npm test`. Fresh objects cost more than all requests to an operation. */
const writesPerStock = 4;

function isMissed({ id }: Operation): boolean {
  return !target.figures.taken.has(id);
}

/** The request with this id in its remaining placeholder. */
function withId(request: FuzzRequest, id: string): FuzzRequest {
  const { path, payload } = request;
  return {
    ...request,
    path: path.replace(idTokenPattern, id),
    payload: typeof payload === 'string' ? payload.replace(idTokenPattern, id) : undefined,
  };
}

/** The answer without the parts that differ between any two requests. */
async function answerTo(request: FuzzRequest, id: string): Promise<[number, string]> {
  const exchange = await target.send(request);
  assert.deepEqual(target.judge(exchange), [], JSON.stringify(exchange));
  const text = exchange.text.replaceAll(id, '(id)').replaceAll(/req_[0-9A-Za-z]{22}/g, '(request)');
  return [exchange.status, text];
}

test("another merchant's id gets the answer of an unknown id in every position", async (t) => {
  let compared = 0;
  for (const operation of operations) {
    for (const request of fc.sample(validRequest(operation), {
      numRuns: runs.foreignIds,
      seed: nextSeed(),
    })) {
      const plain = { ...request, headers: operation.route.method === 'POST' ? jsonHeaders : {} };
      // The caller's own ids are the same in both, even if objects were created in between.
      const text = `${plain.path} ${String(plain.payload ?? '')}`;
      const kinds = [...text.matchAll(idTokenPattern)].map((match) => match[1] as IdKind);
      for (const [place, kind] of kinds.entries()) {
        const fixed = target.fixed(plain, place);
        const fixedText = `${fixed.path} ${String(fixed.payload ?? '')}`;
        // An id that appears nowhere else in the request: an id that is named twice counts once.
        const foreignId = target.foreign.ids[kind].find((id) => !fixedText.includes(id));
        if (foreignId === undefined) continue;
        const nobodys = unknownId(kind);
        const answers = [
          await answerTo(withId(fixed, nobodys), nobodys),
          await answerTo(withId(fixed, foreignId), foreignId),
        ];
        assert.deepEqual(answers[1], answers[0], `${operation.id}: ${kind} at place ${place}`);
        compared += 1;
      }
    }
  }
  t.diagnostic(`${compared} pairs of requests compared`);
});

const jsonHeaders = { 'content-type': 'application/json' };
