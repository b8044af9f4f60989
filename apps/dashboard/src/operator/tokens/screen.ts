import { CircleDollarSign } from 'lucide-react';
import type { Screen } from '../../app/screen.ts';

export const tokensScreen: Screen = {
  path: 'tokens',
  title: 'Tokens',
  icon: CircleDollarSign,
  group: 'money',
  words: 'stop depeg resume',
  load: () => import('./tokens.tsx'),
};
