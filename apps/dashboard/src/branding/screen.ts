import { Palette } from 'lucide-react';
import type { Screen } from '../app/screen.ts';

export const brandingScreen: Screen = {
  path: 'branding',
  title: 'Branding',
  icon: Palette,
  group: 'sell',
  permission: 'products:read',
  words: 'logo color colour look hosted page preview',
  load: () => import('./branding.tsx'),
};
