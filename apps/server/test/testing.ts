/** Databases, chains, payers and receivers of the service's tests, for the tests of others. */

export { startMailbox } from '@florin/world';
export { openChromium, openPage } from './browser/chromium.ts';
export { injectStub, PageWorld } from './browser/page-world.ts';
export { fuzzFactor, fuzzSeed, seedNote } from './fuzz/seed.ts';
export { makeCertificate } from './harness/certificate.ts';
export { copyCheckout, plainEnvironment } from './harness/checkout-copy.ts';
export { commandConfig } from './harness/command-config.ts';
export {
  emptyDatabase,
  prepareTemplate,
  startTestPostgres,
  type TestDatabase,
  testDatabase,
} from './harness/database.ts';
export { deepOnly, isDeepRun } from './harness/deep-only.ts';
export { DepositMoves } from './harness/deposit-moves.ts';
export { largestLink, largestProduct, largestSession } from './harness/largest.ts';
export { type ManySessions, searchesOf, seeded } from './harness/many-sessions.ts';
export { MerchantWorld } from './harness/merchant-fixture.ts';
export { openMillionWorld } from './harness/million-world.ts';
export { gateway, paidEvent, paidLog, vault } from './harness/paid-log.ts';
export { addLateDeposit, addOrder, addPaidSession, happen } from './harness/payment-fixture.ts';
export { quickenScrypt } from './harness/quick-scrypt.ts';
export { type Receiver, startReceiver } from './harness/receiver.ts';
export { SettlementWorld } from './harness/settlement-fixture.ts';
export { Life } from './life/life.ts';
export { LifeChain } from './life/life-chain.ts';
export { type AgentReply, Payer } from './life/payer.ts';
export { addresses, keys } from './life/roles.ts';
export { ServiceProcess } from './life/service-process.ts';
export { checkout } from './life/story-fixture.ts';
