import { newId } from '@florin/protocol/id.ts';
import type { Route } from '@florin/protocol/route.ts';
import { systemRandom } from '#outside/random.ts';
import { entries, kinds, type Request, requestOf, type Things } from './merchant-routes.ts';

const signing = { refundId: 'rfd_none', signingId: '00000000-0000-4000-8000-000000000000' };

/** Requests to the dashboard's own operations, about nothing that exists. */
const ownRequests: Readonly<Record<string, object>> = {
  renameMerchant: { merchantName: ' ' },
  addWalletAccount: { accountName: 'Till', accountAddress: '0x1', settlementCurrencies: ['ethereum::usdc'] },
  cancelAccountChange: { changeId: 'acg_none' },
  updateAccount: { accountId: 'acc_none', settlementMode: 'escrow' },
  changeAccountAddress: { accountId: 'acc_none', accountAddress: `0x${'1'.repeat(40)}` },
  removeAccount: { accountId: 'acc_none' },
  changeMemberRole: { userId: 'usr_none', role: 'viewer' },
  removeMember: { userId: 'usr_none' },
  recoverMember: { userId: 'usr_none' },
  cancelMemberRecovery: { userId: 'usr_none' },
  inviteMember: { role: 'viewer' },
  revokeInvitation: { invitationId: 'inv_none' },
  deleteLink: { linkId: 'lnk_none' },
  sendReceiptAgain: { sessionId: 'sess_none' },
  recordExport: { what: 'list of payments', format: 'csv', filters: '' },
  getPeriodSums: { times: [0, 86_400] },
  startRefundSigning: { ...signing, account: `0x${'1'.repeat(40)}` },
  reportRefundSigning: { ...signing, txHash: `0x${'1'.repeat(64)}` },
  endRefundSigning: signing,
  withdrawSignedRefund: signing,
  getAccountSums: { times: [0, 86_400] },
  createApiKey: { kind: 'restricted', permissions: [] },
  renameApiKey: { keyId: 'key_none', name: '' },
  disableApiKey: { keyId: 'key_none' },
};

const staffRequests: Readonly<Record<string, object>> = {
  createMerchant: { merchantName: '' },
  inviteToMerchant: { merchantId: 'mer_none', role: 'viewer' },
  suspendMerchant: { merchantId: 'mer_none', reason: 'x' },
  resumeMerchant: { merchantId: 'mer_none' },
  stopToken: { token: 'none', reason: 'x' },
  resumeToken: { token: 'none' },
  resumeHaltedChain: { chain: 'none', reason: 'x' },
  releaseSettlement: { orderId: `0x${'0'.repeat(64)}`, reason: 'x' },
};

/** A request about nothing that exists, for every operation of a merchant. */
export function requestFor(name: string, route: Route, things: Things): Request {
  const entry = entries.find((each) => each.name === name);
  if (entry !== undefined) return requestOf(entry, things);
  return { method: route.method, path: route.path, body: ownRequests[name] };
}

/** A request about nothing that exists, for every operation of the installation. */
export const staffRequestFor = (name: string, { method, path }: Route): Request => ({
  ...{
    method,
    path: path.replace(':page', '1').replace(':size', '10').replace(':token', 'usdc'),
    body: staffRequests[name],
  },
});

/** Ids of nothing. */
export const nothing = Object.fromEntries(
  Object.entries(kinds).map(([name, kind]) => [name, newId(kind, systemRandom.bytes)]),
) as unknown as Things;
