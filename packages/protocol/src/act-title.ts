type Titles = Readonly<Record<string, string>>;

/** What people do to their own accounts, in words. It stands in the logs of all places that they belong to. */
const personTitles: Titles = {
  signInWithRecoveryCode: 'Signed in with a recovery code',
  signInOnNewDevice: 'Signed in on a new device',
  lockSecondFactor: 'Entered too many wrong codes on new devices',
  exhaustCodesOfDevice: 'Entered too many wrong codes on a known device',
  failProof: 'Entered a wrong password or code to confirm an act',
  guessProofs: 'Entered wrong passwords or codes again and again to confirm an act',
  revokeMySession: 'Ended a session',
  changePassword: 'Changed the password',
  addPasskey: 'Added a passkey',
  removePasskey: 'Removed a passkey',
  confirmSecondFactor: 'Turned the second factor on',
  removeSecondFactor: 'Turned the second factor off',
  addWallet: 'Added a wallet to sign in with',
  removeWallet: 'Removed a wallet to sign in with',
  renewRecoveryCodes: 'Made new recovery codes',
  retryMyMail: 'Let e-mails go to the own address again',
  askRecovery: 'Asked for a recovery',
  startRecovery: 'Started a recovery',
  cancelRecovery: 'Cancelled a recovery',
  completeRecovery: 'Completed a recovery',
  acceptInvitation: 'Accepted an invitation',
  revokeInvitation: 'Withdrew an invitation',
};

const merchantTitles: Titles = {
  changeMyNotification: 'Chose what to get by e-mail',
  saveMyView: 'Saved a view of payments',
  removeMyView: 'Removed a view of payments',
  // The team.
  inviteMember: 'Invited a member',
  changeMemberRole: 'Changed the role of a member',
  removeMember: 'Removed a member',
  recoverMember: 'Asked for the recovery of a member',
  cancelMemberRecovery: 'Cancelled the recovery of a member',
  renameMerchant: 'Changed the name of the shop',
  // What is sold.
  createProduct: 'Created a product',
  updateProduct: 'Changed a product',
  removeProduct: 'Deleted a product',
  archiveProduct: 'Archived a product',
  unarchiveProduct: 'Took a product out of the archive',
  createLink: 'Created a payment link',
  updateLink: 'Changed a payment link',
  disableLink: 'Disabled a payment link',
  enableLink: 'Enabled a payment link',
  deleteLink: 'Deleted a payment link',
  updateBranding: 'Changed the look of the payment page',
  // Payments.
  createCheckoutSession: 'Created a session',
  cancelCheckoutSession: 'Cancelled a session',
  sendReceiptAgain: 'Sent a receipt again',
  createRefund: 'Refunded a payment',
  cancelRefund: 'Withdrew a refund',
  withdrawSignedRefund: 'Withdrew a refund that a wallet was asked to sign',
  startRefundSigning: 'Began to sign a refund',
  reportRefundSigning: 'Sent the transaction of a refund',
  endRefundSigning: 'Ended the signing of a refund',
  resolveException: 'Marked an exception as resolved',
  acceptException: 'Accepted the money of an exception',
  refundException: 'Returned the money of an exception',
  recordExport: 'Saved payments or a report as a file',
  // Wallets.
  addWalletAccount: 'Added a settlement wallet',
  updateAccount: 'Changed a settlement wallet',
  changeAccountAddress: 'Set a new address of a settlement wallet',
  cancelAccountChange: 'Cancelled a change of a settlement wallet',
  removeAccount: 'Removed a settlement wallet',
  // Programs.
  createWebhook: 'Added a webhook',
  updateWebhook: 'Changed a webhook',
  disableWebhook: 'Disabled a webhook',
  enableWebhook: 'Enabled a webhook',
  refreshWebhookKey: 'Replaced the secret of a webhook',
  removeWebhook: 'Deleted a webhook',
  testWebhook: 'Sent a test to a webhook',
  resendDeliveries: 'Sent deliveries again',
  resendDelivery: 'Sent a delivery again',
  createApiKey: 'Created an API key',
  renameApiKey: 'Gave an API key another name',
  disableApiKey: 'Disabled an API key',
  // By the operator.
  createMerchant: 'Created a merchant',
  suspendMerchant: 'Suspended a merchant',
  resumeMerchant: 'Ended the suspension of a merchant',
};

const installationTitles: Titles = {
  stopToken: 'Stopped a token',
  resumeToken: 'Took a token again',
  resumeChain: 'Resumed a halted chain',
  backfillChain: 'Had blocks of a chain read again',
  releaseChain: 'Resumed settlement on a chain',
  releaseSettlement: 'Released a settlement',
  releaseMailAddress: 'Sent e-mails to an address again',
  inviteStaff: 'Invited a person to the staff',
  removeStaff: 'Removed a person from the staff',
  erasePayer: 'Erased the personal data of a payer',
};

const titles: Titles = { ...personTitles, ...merchantTitles, ...installationTitles };
const logTitles = {
  merchant: { ...personTitles, ...merchantTitles },
  person: personTitles,
  // Also the own log of a person who is staff.
  installation: { ...personTitles, ...installationTitles },
};
export type AuditLogKind = keyof typeof logTitles;

/** The acts that a log can have, in the order of their words. */
export function actNamesOf(log: AuditLogKind): { readonly value: string; readonly label: string }[] {
  return Object.entries(logTitles[log])
    .map(([value, label]) => ({ value, label }))
    .toSorted((one, other) => one.label.localeCompare(other.label, 'en'));
}

/** Whether an audit log can have the act. */
export function isAct(action: string): boolean {
  return Object.hasOwn(titles, action);
}

/** An act of the audit log in words; its own name where it is new to this page. */
export function actTitle(action: string): string {
  return titles[action] ?? action;
}
