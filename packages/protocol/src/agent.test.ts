import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AgentSessionState, agentMoves, agentStages, sessionSituation, workflowOf } from './agent.ts';
import { sessionStatuses } from './session.ts';

const fresh: AgentSessionState = {
  status: 'initialized',
  signedOnce: false,
  isPaymentSeen: false,
  isPaymentLost: false,
  isPaymentInDoubt: false,
  isPaymentReturned: false,
  isPastExpiry: false,
  hasPaymentParameters: true,
};

// proves S3.12
test('every stage has the next action that the protocol documents', () => {
  assert.deepEqual(Object.fromEntries(agentStages.map((stage) => [stage, agentMoves[stage].action])), {
    link_ready: 'create_payment_session',
    link_unavailable: 'none',
    session_ready: 'prepare_payment',
    payment_parameters_required: 'prepare_payment',
    payment_prepared: 'execute_payment_client_side',
    payment_detected: 'poll_session',
    payment_succeeded: 'poll_session',
    settling: 'poll_session',
    settlement_pending: 'poll_session',
    settled: 'none',
    session_expired: 'create_payment_session',
    session_cancelled: 'none',
  });
});

test('a stage is reported under its own name', () => {
  for (const stage of agentStages) assert.equal(agentMoves[stage].stage, stage);
});

test('every polled stage names a retry time, and no other stage does', () => {
  for (const [situation, move] of Object.entries(agentMoves)) {
    assert.equal('retryAfterSeconds' in move, move.action === 'poll_session', situation);
  }
});

test('a finished session keeps its stage at every time of our clock', () => {
  const stages = Object.fromEntries(
    sessionStatuses
      .filter((status) => status !== 'initialized')
      .map((status) => [
        status,
        sessionSituation({ ...fresh, status, signedOnce: true, isPastExpiry: true }),
      ]),
  );
  assert.deepEqual(stages, {
    paid: 'payment_succeeded',
    settling: 'settling',
    completed: 'settled',
    settlement_pending: 'settlement_pending',
    expired: 'session_expired',
    cancelled: 'session_cancelled',
  });
});

test('an open session asks for what it lacks', () => {
  assert.equal(sessionSituation(fresh), 'session_ready');
  assert.equal(sessionSituation({ ...fresh, hasPaymentParameters: false }), 'payment_parameters_required');
});

test('a seen payment takes precedence over the expiry', () => {
  assert.equal(sessionSituation({ ...fresh, isPaymentSeen: true, isPastExpiry: true }), 'payment_detected');
});

test('an agent is not told that a payment is final which the chain took back', () => {
  const lost = { ...fresh, status: 'settlement_pending', isPaymentSeen: true, isPaymentLost: true } as const;
  assert.equal(sessionSituation(lost), 'payment_lost');
  const { stage, nextAction } = workflowOf('payment_lost');
  assert.deepEqual([stage, nextAction.action], ['settlement_pending', 'poll_session']);
});

test('an agent begins again once a payment that the chain took back can no longer return', () => {
  const situation = sessionSituation({ ...fresh, status: 'expired', signedOnce: true, isPaymentLost: true });
  assert.equal(situation, 'payment_ended');
  const { stage, nextAction } = workflowOf(situation);
  assert.deepEqual([stage, nextAction.action], ['session_expired', 'create_payment_session']);
  assert.match(nextAction.description, /not paid/);
});

test('an agent is not told that a payment is final while its chain is halted', () => {
  for (const status of ['initialized', 'paid', 'settling', 'settlement_pending', 'completed'] as const) {
    const situation = sessionSituation({ ...fresh, status, isPaymentSeen: true, isPaymentInDoubt: true });
    assert.equal(situation, 'payment_in_doubt', status);
  }
  const { stage, nextAction } = workflowOf('payment_in_doubt');
  assert.deepEqual([stage, nextAction.action], ['settlement_pending', 'poll_session']);
});

test('an agent learns that a payment went back in full, and has nothing more to do', () => {
  for (const status of ['paid', 'completed'] as const) {
    const situation = sessionSituation({ ...fresh, status, isPaymentSeen: true, isPaymentReturned: true });
    const { stage, nextAction } = workflowOf(situation);
    const expected = status === 'paid' ? 'payment_succeeded' : 'settled';
    assert.deepEqual([stage, nextAction.action], [expected, 'none']);
    assert.match(nextAction.description, /back/);
  }
});

test('an unsigned session is over at its expiry', () => {
  assert.equal(sessionSituation({ ...fresh, isPastExpiry: true }), 'session_expired');
});

test('an agent with a signed order is never told to restart before the chain has passed its deadline', () => {
  const situation = sessionSituation({ ...fresh, signedOnce: true, isPastExpiry: true });
  assert.equal(situation, 'order_closing');
  const { stage, nextAction } = workflowOf(situation);
  assert.deepEqual([stage, nextAction.action], ['payment_prepared', 'poll_session']);
});

test('a deadline is a decimal string', () => {
  assert.deepEqual(workflowOf('session_ready', 1_800_000_000n).nextAction, {
    action: 'prepare_payment',
    authorizationRequired: true,
    description: agentMoves.session_ready.description,
    deadline: '1800000000',
  });
});
