import type { ofMerchantRoutes } from '@florin/protocol/dashboard-api.ts';
import type { Role } from '@florin/protocol/member-role.ts';
import type { staffRoutes } from '@florin/protocol/staff-api.ts';
import type { Locator, Page } from 'playwright-core';
import type { Shop } from '../harness/shop.ts';

type MerchantAct = keyof typeof ofMerchantRoutes;
type StaffAct = keyof typeof staffRoutes;

/** Where an act is offered: a screen, what opens the place there, and the control that begins the act. */
export interface ActPlace {
  readonly path: string;
  /** Clicked first, where it is there. */
  readonly opener?: (page: Page) => Locator;
  readonly control: (page: Page) => Locator;
  /** A rule beside the table of permissions. */
  readonly onlyFor?: readonly Role[];
}

const button = (name: string | RegExp) => (page: Page) =>
  page
    .getByRole('main')
    .getByRole('button', { name, exact: typeof name === 'string' })
    .first();
const item = (name: string) => (page: Page) => page.getByRole('menuitem', { name, exact: true });
const inSheet = (name: string) => (page: Page) =>
  page.getByRole('dialog').getByRole('button', { name, exact: true });
const firstRow = (page: Page) => page.getByRole('main').locator('tbody tr button').first();

const product = button('Acts for Tea');
const webhookMore = button('More');
const member = button('Acts for Vic');

/** What a merchant's acts are about. */
interface MerchantObjects {
  readonly things: Shop['things'];
  readonly disabledLinkId: string;
  readonly returnedExceptionId: string;
  readonly spareAccountId: string;
}

type MerchantPlaces = Partial<Record<MerchantAct, ActPlace | string>>;

/** Where each act of a merchant is offered; a text says why the dashboard has no place for it. */
export function merchantPlaces({ things, ...more }: MerchantObjects): MerchantPlaces {
  const hook = `webhooks/${things.webhookId}`;
  const wallet = `wallets/${things.accountId}`;
  const link = `links/${things.linkId}`;
  const late = `exceptions?exception=${things.lateExceptionId}`;
  return {
    createProduct: { path: 'products', control: button('Create a product') },
    updateProduct: { path: 'products', opener: product, control: item('Edit') },
    archiveProduct: { path: 'products', opener: product, control: item('Archive') },
    removeProduct: { path: 'products', opener: product, control: item('Delete') },
    unarchiveProduct: {
      ...{ path: 'products?status=archived', opener: button('Acts for Old tea'), control: item('Unarchive') },
    },
    updateBranding: { path: 'branding', control: button('Save') },
    createLink: { path: 'links', control: button('Create a link') },
    updateLink: { path: link, control: button('Edit') },
    disableLink: { path: link, control: button('Disable') },
    deleteLink: { path: link, opener: button('More acts'), control: item('Delete') },
    enableLink: { path: `links/${more.disabledLinkId}`, control: button('Enable') },
    createCheckoutSession: 'programs make sessions; people make links',
    cancelCheckoutSession: { path: `payments/${things.sessionId}`, control: button('Cancel') },
    createRefund: { path: `payments/${things.paidSessionId}`, control: button('Refund') },
    sendReceiptAgain: 'stands beside a receipt that was sent: the payment of this shop has none',
    cancelRefund: { path: `refunds/${things.waitingRefundId}`, control: button('Withdraw refund') },
    withdrawSignedRefund: 'the same button, once a wallet was asked',
    startRefundSigning: { path: `refunds/${things.waitingRefundId}`, control: button('Connect and sign') },
    reportRefundSigning: 'follows the start of the signing by itself',
    endRefundSigning: 'follows the start of the signing by itself',
    resolveException: {
      ...{ path: `exceptions?exception=${more.returnedExceptionId}`, control: inSheet('Mark as resolved') },
    },
    acceptException: { path: late, control: inSheet('Accept') },
    refundException: { path: late, control: inSheet('Return') },
    recordExport: { path: 'payments', control: button('Export') },
    createReport: { path: 'reports', control: button('Download') },
    createWebhook: { path: 'webhooks', control: button('Add a webhook') },
    updateWebhook: { path: hook, control: button('Edit') },
    testWebhook: { path: hook, control: button('Send a test') },
    refreshWebhookKey: { path: hook, control: button('Replace') },
    resendDeliveries: { path: hook, opener: webhookMore, control: item('Send again since a time') },
    disableWebhook: { path: hook, opener: webhookMore, control: item('Disable') },
    removeWebhook: { path: hook, opener: webhookMore, control: item('Delete') },
    enableWebhook: {
      ...{ path: `webhooks/${things.spareWebhookId}`, opener: webhookMore, control: item('Enable') },
    },
    resendDelivery: {
      ...{ path: `webhooks/${things.spareWebhookId}`, opener: firstRow, control: inSheet('Send again') },
    },
    renameMerchant: { path: 'settings', control: button('Change the name') },
    addWalletAccount: { path: 'wallets', control: button('Add a wallet') },
    cancelAccountChange: { path: 'wallets', control: button('Cancel') },
    updateAccount: { path: wallet, control: button('Change') },
    changeAccountAddress: { path: `wallets/${more.spareAccountId}`, control: button('New address') },
    removeAccount: { path: wallet, control: button('Remove') },
    changeMemberRole: { path: 'team', opener: member, control: item('Change the role') },
    removeMember: { path: 'team', opener: member, control: item('Remove') },
    // Two owners recover a member; docs/decisions/0118.
    recoverMember: {
      ...{ path: 'team', opener: member, control: item('Recover the account'), onlyFor: ['owner'] },
    },
    cancelMemberRecovery: {
      ...{ path: 'team', opener: button('Acts for Rae'), control: item('Cancel the recovery') },
    },
    inviteMember: { path: 'team', control: button('Invite a member') },
    revokeInvitation: { path: 'team', control: button('Withdraw') },
    createApiKey: { path: 'keys', control: button('Create a key') },
    renameApiKey: { path: 'keys', opener: firstRow, control: inSheet('Rename') },
    disableApiKey: { path: 'keys', opener: firstRow, control: inSheet('Disable') },
  };
}

/** Where each act of the operator is offered. */
export const staffPlaces: Partial<Record<StaffAct, ActPlace>> = {
  createMerchant: { path: 'merchants', control: button('Create a merchant') },
  inviteToMerchant: { path: 'merchants', opener: button(/^Acts on /), control: item('Invite a person…') },
  suspendMerchant: { path: 'merchants', opener: button(/^Acts on (?!Suspended)/), control: item('Suspend…') },
  resumeMerchant: {
    ...{
      path: 'merchants?text=Suspended',
      opener: button(/^Acts on /),
      control: item('End the suspension…'),
    },
  },
  stopToken: { path: 'tokens', control: button(/^Stop… ethereum::usdc/) },
  resumeToken: { path: 'tokens', control: button(/^Take again… base::usdc/) },
  resumeHaltedChain: { path: 'chains', control: button('Resume…') },
  releaseSettlement: {
    path: 'settlements?tab=legs&state=waiting',
    opener: firstRow,
    control: inSheet('Release…'),
  },
  releaseMailAddress: { path: 'e-mails', control: button('Send to an address again…') },
};
