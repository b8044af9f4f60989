import { House } from 'lucide-react';
import type { Screen } from '../app/screen.ts';

export const homeScreen: Screen = {
  path: '',
  title: 'Home',
  icon: House,
  group: 'main',
  words: 'overview start',
  load: () => import('./home.tsx'),
};
