import { type MemberRole, memberRoles } from '@florin/protocol/member-role.ts';

/** What each role is for, in the words of the screens. */
const roleTexts: Readonly<Record<MemberRole, { readonly title: string; readonly does: string }>> = {
  owner: { title: 'Owner', does: 'Does everything, and makes other owners.' },
  admin: { title: 'Admin', does: 'Does everything except making or removing owners.' },
  developer: {
    title: 'Developer',
    does: 'Builds: products, links, the look of the pages, sessions, webhooks and API keys. No refunds.',
  },
  finance: {
    title: 'Finance',
    does: 'Sees payments, payers, reports and the audit log, refunds, and decides about exceptions.',
  },
  support: { title: 'Support', does: 'Sees payments and payers, refunds, and decides about exceptions.' },
  viewer: {
    title: 'Viewer',
    does: 'Sees payments and the wallets that paid, not who the payers are. Sees no secrets, and changes nothing.',
  },
};

export function roleTitle(role: string): string {
  const known = memberRoles.find((name) => name === role);
  return known === undefined ? 'Staff' : roleTexts[known].title;
}

export function roleDoes(role: MemberRole): string {
  return roleTexts[role].does;
}
