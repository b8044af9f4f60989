import { ShieldHalf } from 'lucide-react';
import type { Screen } from '../../app/screen.ts';

export const staffScreen: Screen = {
  path: 'staff',
  title: 'Staff and audit',
  icon: ShieldHalf,
  group: 'installation',
  words: 'people log acts',
  load: () => import('./staff.tsx'),
};
