/** Chains, PostgreSQL and ports of the local world, for tests and benchmarks. */

export { type Anvil, startAnvil, TEST_MNEMONIC } from './anvil.ts';
export { deployWorld } from './deployment.ts';
export { deriveRoles, type WorldRoles } from './home.ts';
export { type LocalAttester, startLocalAttester } from './local-attester.ts';
export { planLinks, planLocalCircle } from './local-circle.ts';
export { type Mailbox, type MailboxMail, startMailbox } from './mailbox.ts';
export { permit2Deployment } from './permit2.ts';
export { findFreePort } from './port.ts';
export { type Postgres, startPostgres } from './postgres.ts';
export { composeConfig, type WorldConfig } from './world-config.ts';
