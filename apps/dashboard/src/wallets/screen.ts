import { Wallet } from 'lucide-react';
import type { Screen } from '../app/screen.ts';

export const walletsScreen: Screen = {
  path: 'wallets',
  title: 'Wallets',
  icon: Wallet,
  group: 'business',
  permission: 'accounts:read',
  words: 'accounts addresses settlement tokens',
  load: () => import('./wallets.tsx'),
  pages: { $accountId: () => import('./wallet-page.tsx') },
};
