import { Store } from 'lucide-react';
import type { Screen } from '../../app/screen.ts';

export const merchantsScreen: Screen = {
  path: 'merchants',
  title: 'Merchants',
  icon: Store,
  group: 'merchants',
  words: 'shops invite suspend',
  load: () => import('./merchants.tsx'),
};
