import { Mail } from 'lucide-react';
import type { Screen } from '../../app/screen.ts';

export const mailsScreen: Screen = {
  path: 'e-mails',
  title: 'E-mails',
  icon: Mail,
  group: 'installation',
  words: 'mail smtp bounces receipts',
  load: () => import('./mails.tsx'),
};
