import { ScrollText } from 'lucide-react';
import type { Screen } from '../app/screen.ts';

export const auditScreen: Screen = {
  path: 'audit',
  title: 'Audit log',
  icon: ScrollText,
  group: 'business',
  permission: 'audit:read',
  words: 'history who changed what log export',
  load: () => import('./audit.tsx'),
};
