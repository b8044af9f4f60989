import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  InsufficientFundsError,
  SwitchChainError,
  TransactionExecutionError,
  UserRejectedRequestError,
} from 'viem';
import { ApiFailure } from '../api/failure.ts';
import { movedNothing, shortageText, stopOf, WalletStopped } from './wallet-stop.ts';

test('a refused signature is told apart, however deep the error stands', () => {
  const refused = new UserRejectedRequestError(new Error('User denied transaction signature.'));
  assert.equal(stopOf(refused), 'declined');
  assert.equal(stopOf(new TransactionExecutionError(refused, { account: null })), 'declined');
  assert.equal(stopOf({ code: 4001, message: 'no' }), 'declined');
});

test('a network that the wallet does not know, a missing fee and an open question have words of their own', () => {
  assert.equal(stopOf(new SwitchChainError(new Error('Unrecognized chain'))), 'wrong_network');
  assert.equal(
    stopOf(new TransactionExecutionError(new InsufficientFundsError(), { account: null })),
    'no_gas',
  );
  assert.equal(stopOf({ code: -32002 }), 'busy');
});

test('what the service refuses before the wallet is asked has words of its own', () => {
  const refused = (slug: 'refund_being_signed' | 'refund_not_possible' | 'proof_declined' | 'internal') =>
    stopOf(new ApiFailure({ slug, message: '' }));
  assert.equal(refused('refund_being_signed'), 'signed_by_other');
  assert.equal(refused('refund_not_possible'), 'ended');
  assert.equal(refused('proof_declined'), 'not_proven');
  assert.equal(refused('internal'), 'no_service');
});

test('what the page itself has found stays, and the rest is unknown', () => {
  assert.equal(stopOf(new WalletStopped('short_balance')), 'short_balance');
  assert.equal(stopOf(new Error('something else')), 'other');
  assert.equal(stopOf('text'), 'other');
});

test('the last step may be signed again only when it moved no money for certain', () => {
  assert.equal(movedNothing('declined', ''), true);
  assert.equal(movedNothing('refused_by_chain', ''), true);
  assert.equal(movedNothing('other', ''), false);
  assert.equal(movedNothing('busy', ''), false);
  assert.equal(movedNothing('reverted', '0x01'), true);
  assert.equal(movedNothing('replaced', '0x01'), true);
  assert.equal(movedNothing('not_seen', '0x01'), false);
  assert.equal(movedNothing('wrong_network', '0x01'), false);
});

test('an account that holds too little is named, with what it holds and what is missing', () => {
  const account = '0x1234567890123456789012345678901234567890';
  const shortage = { account, balance: 250_000n, needed: 1_000_000n };
  assert.equal(
    shortageText(shortage, { decimals: 6, symbol: 'USDC' }),
    '0x1234…7890 holds 0.25 USDC of the 1.00 USDC: 0.75 USDC are missing.',
  );
});
