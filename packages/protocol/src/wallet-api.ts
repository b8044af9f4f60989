import Type from 'typebox';
import { account } from './account.ts';
import { accountChange } from './account-change.ts';
import { settlementModes } from './order.ts';
import { route } from './route.ts';
import { idText, nameText, strictObject, text, unchangedSince } from './schema.ts';

const address = text({ min: 42, max: 42, description: 'An EVM address, with its checksum or in lower case' });
const settlementMode = Type.Enum(['', 'escrow', 'direct']);
const settlementCurrencies = Type.Array(text({ min: 1, max: 64 }), { minItems: 1, maxItems: 100 });
const proof = strictObject({
  chainId: Type.Integer({ minimum: 1 }),
  signature: text({ min: 4, max: 20_000 }),
});

const ifUpdateAt = unchangedSince('account', 100403);

const noSuchAccount = ['account_not_found', 'account_removed', 'account_version_changed'] as const;

const read = { method: 'GET', tag: 'Accounts', permissions: ['accounts:read'], effect: 'query' } as const;
const write = { method: 'POST', tag: 'Accounts', permissions: ['accounts:write'], effect: 'update' } as const;

/** How members change the wallets that a merchant is paid to. Keys of the merchant API only read them. */
export const accountRoutes = {
  getWalletProofText: route({
    ...read,
    path: '/account/proof/:accountAddress',
    summary: 'The text that a wallet signs to prove that it takes settlements',
    params: Type.Object({ accountAddress: address }),
    reply: Type.Object({ message: Type.String() }),
    errors: ['field_invalid'],
  }),
  addWalletAccount: route({
    ...write,
    path: '/account/create',
    summary: 'Add a wallet',
    description:
      'The first wallet of a merchant takes effect at once, every other after the delay of the installation. Until ' +
      'then no link and no session can name it, and it can be cancelled. Without a proof it is marked as not proven.',
    body: strictObject({
      accountName: nameText({ max: 100 }),
      accountAddress: address,
      settlementCurrencies,
      settlementMode: Type.Optional(settlementMode),
      proof: Type.Optional(proof),
    }),
    reply: accountChange,
    effect: 'create',
    errors: [
      'field_invalid',
      'account_limit',
      'currency_unsupported',
      'signature_invalid',
      'chain_unavailable',
    ],
  }),
  listAccountChanges: route({
    ...read,
    path: '/account/change/list',
    summary: 'The latest changes of wallets, with those that wait',
    reply: Type.Object({
      delaySeconds: Type.Integer({ description: 'How long a wallet waits that is not the merchant’s first' }),
      settlementMode: Type.Enum(settlementModes, {
        description: 'Of this installation, for wallets without a mode of their own',
      }),
      changes: Type.Array(
        Type.Object({
          ...accountChange.properties,
          requestedBy: Type.String({
            description: 'The member’s e-mail address; empty when it is not known',
          }),
        }),
      ),
    }),
  }),
  cancelAccountChange: route({
    ...write,
    path: '/account/change/cancel',
    summary: 'Cancel a wallet or an address that waits',
    body: strictObject({ changeId: idText }),
    errors: ['account_change_not_found'],
  }),
  updateAccount: route({
    ...write,
    path: '/account/update',
    summary: 'Change the name, the tokens or the settlement mode at once',
    description: 'What is absent stays. A token in which an active payment link settles cannot go.',
    body: strictObject({
      accountId: idText,
      accountName: Type.Optional(nameText({ max: 100 })),
      settlementCurrencies: Type.Optional(settlementCurrencies),
      settlementMode: Type.Optional(settlementMode),
      ifUpdateAt,
    }),
    reply: account,
    errors: [...noSuchAccount, 'currency_unsupported', 'field_invalid'],
  }),
  changeAccountAddress: route({
    ...write,
    path: '/account/address',
    summary: 'Give an account another address, after the delay of the installation',
    description:
      'The account then has a new version. Sessions made before keep the old address. It can be cancelled while it waits. ' +
      'Without a proof it is marked as not proven.',
    body: strictObject({
      accountId: idText,
      accountAddress: address,
      proof: Type.Optional(proof),
      ifUpdateAt,
    }),
    reply: accountChange,
    errors: [...noSuchAccount, 'field_invalid', 'signature_invalid', 'chain_unavailable'],
  }),
  removeAccount: route({
    ...write,
    path: '/account/remove',
    summary: 'Remove a wallet and disable its payment links',
    body: strictObject({ accountId: idText, ifUpdateAt }),
    reply: Type.Object({ disabledLinks: Type.Integer() }),
    errors: noSuchAccount,
  }),
} as const;
