import { TriangleAlert } from 'lucide-react';
import type { Screen } from '../app/screen.ts';

export const exceptionsScreen: Screen = {
  path: 'exceptions',
  title: 'Exceptions',
  icon: TriangleAlert,
  group: 'main',
  permission: 'sessions:read',
  words: 'late short underpaid overpaid duplicate wrong token deposit',
  load: () => import('./exceptions.tsx'),
};
