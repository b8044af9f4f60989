import { SlidersHorizontal } from 'lucide-react';
import type { Screen } from '../../app/screen.ts';

export const configurationScreen: Screen = {
  path: 'configuration',
  title: 'Configuration',
  icon: SlidersHorizontal,
  group: 'installation',
  words: 'versions migrations settings',
  load: () => import('./configuration.tsx'),
};
