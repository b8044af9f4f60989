import { Blocks } from 'lucide-react';
import type { Screen } from '../../app/screen.ts';

export const chainsScreen: Screen = {
  path: 'chains',
  title: 'Chains',
  icon: Blocks,
  group: 'main',
  words: 'nodes head final lag halted resume',
  load: () => import('./chains.tsx'),
};
