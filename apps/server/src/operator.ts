/**
 * What operators' tools use of the service: the command line and the local world. Nothing else of the
 * service is imported from outside.
 */

export { ArchiveError } from '#backup/archive.ts';
export { backUp } from '#backup/backup.ts';
export { findNewestBackup } from '#backup/newest-backup.ts';
export { restore } from '#backup/restore.ts';
export { changeBranding, findBranding, lockedBranding, takeBrandImages } from '#catalog/branding.ts';
export { noIntake } from '#catalog/images/intake.ts';
export { openImages } from '#catalog/images/open-images.ts';
export { type Chain, type Chains, chainsOf, contractsOf, finalityText, ownContracts } from '#chains/chain.ts';
export { create2Deployer, permit2Address } from '#chains/shared-contract.ts';
export { type Config, ConfigError, readConfig } from '#config/config.ts';
export type { Environment } from '#config/setting.ts';
export { addressOfKey, readRemoteSigner } from '#config/signer.ts';
export {
  type Artifact,
  type CctpSettings,
  type ContractCall,
  type ContractPlan,
  circleFor,
  circleMainnet,
  deploymentCall,
  isCodeOf,
  type PlannedContract,
  planContract,
  planContracts,
  readArtifact,
} from '#contracts/contract-plan.ts';
export { type ContractRoles, type RoleSetting, roleSettings } from '#contracts/contract-setup.ts';
export { findDroppedEvents } from '#contracts/dropped-event.ts';
export { schema } from '#db/schema.ts';
export { findScopeProblems } from '#db/scope-check.ts';
export { readAdditionBalances } from '#deposits/addition-balance.ts';
export { type DepositBudgets, findExhaustedBudgets } from '#deposits/deposit-gas.ts';
export { sendBack } from '#deposits/deposit-move.ts';
export { decide, findException, listExceptions, markResolved } from '#exceptions/exception.ts';
export { compileCheck } from '#http/schema-check.ts';
export { verifyLedger } from '#ledger/seal.ts';
export { createLink } from '#links/link.ts';
export { disableLinksOfAccount } from '#links/link-status.ts';
export { invitedTeller, mailNotifier, ownerTeller, personTeller } from '#mail/notify.ts';
export { type SmtpSettings, smtpTransport } from '#mail/smtp.ts';
export { type Act, operator, recordAct } from '#members/audit.ts';
export { dashboardOriginOf } from '#members/dashboard-origin.ts';
export { acceptInvitation, invitationUrl, invite, mailInvitation } from '#members/invitation.ts';
export { recordEnded } from '#members/inviter.ts';
export { addMember, listMembers } from '#members/membership.ts';
export { hashPassword } from '#members/password.ts';
export { cancelRecovery, recoverByOperator, recoveryUrl } from '#members/recovery.ts';
export { listStaff, removeStaff } from '#members/staff.ts';
export { createUser } from '#members/user.ts';
export {
  accountOf,
  createAccount,
  findAccount,
  findAccountsAt,
  listAccounts,
  removeAccount,
  updateAccount,
} from '#merchants/account.ts';
export {
  type ApiKeyRequest,
  type ApiKeySummary,
  apiKeyLookup,
  authenticate,
  createApiKey,
  listApiKeys,
  revokeApiKey,
} from '#merchants/api-key.ts';
export { createMerchant, findMerchant, listMerchants, type Merchant } from '#merchants/merchant.ts';
export type { DepositPolicy } from '#orders/context.ts';
export { type Clock, clockAhead, systemClock, unixSeconds } from '#outside/clock.ts';
export { type Html, html } from '#outside/html.ts';
export { type Random, systemRandom } from '#outside/random.ts';
export { secretBox } from '#outside/secret-box.ts';
export { reportRestoration } from '#payments/restoration.ts';
export { acceptDifferences, releaseStopped } from '#reconcile/reconcile.ts';
export { readStatus } from '#reconcile/status.ts';
export { erasePayer } from '#sessions/erasure.ts';
export { metaDataOf } from '#sessions/session.ts';
export { searchSnapshots } from '#sessions/session-search.ts';
export { listOpenLegs, releaseOrder } from '#settlement/held.ts';
export { settlementRound } from '#settlement/settlement.ts';
export {
  ChainUnreachable,
  findChainProblems,
  type ServiceWallets,
  singleProviderProblem,
} from '#start/check.ts';
export { bytesOf, imageOptionsOf, smtpSettingsOf } from '#start/options.ts';
export { silentLog } from '#telemetry/log.ts';
export { causedBy } from '#webhooks/outbox.ts';
export { outboxContext } from '#webhooks/outbox-context.ts';
