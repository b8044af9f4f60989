import { HeartPulse } from 'lucide-react';
import type { Screen } from '../../app/screen.ts';

export const healthScreen: Screen = {
  path: '',
  title: 'Health',
  icon: HeartPulse,
  group: 'main',
  words: 'overview problems status',
  load: () => import('./health.tsx'),
};
