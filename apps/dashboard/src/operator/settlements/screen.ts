import { Send } from 'lucide-react';
import type { Screen } from '../../app/screen.ts';

export const settlementsScreen: Screen = {
  path: 'settlements',
  title: 'Settlements',
  icon: Send,
  group: 'main',
  words: 'legs transactions nonce fee queue release',
  load: () => import('./settlements.tsx'),
};
