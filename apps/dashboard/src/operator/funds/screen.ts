import { Fuel } from 'lucide-react';
import type { Screen } from '../../app/screen.ts';

export const fundsScreen: Screen = {
  path: 'funds',
  title: 'Funds',
  icon: Fuel,
  group: 'money',
  words: 'wallets vaults runway caps',
  load: () => import('./funds.tsx'),
};
