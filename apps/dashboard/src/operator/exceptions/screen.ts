import { TriangleAlert } from 'lucide-react';
import type { Screen } from '../../app/screen.ts';

export const allExceptionsScreen: Screen = {
  path: 'all-exceptions',
  title: 'Exceptions',
  icon: TriangleAlert,
  group: 'merchants',
  words: 'short over late double wrong token',
  load: () => import('./exceptions.tsx'),
};
