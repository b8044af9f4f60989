import { Users } from 'lucide-react';
import type { Screen } from '../app/screen.ts';

export const teamScreen: Screen = {
  path: 'team',
  title: 'Team',
  icon: Users,
  group: 'business',
  permission: 'members:read',
  words: 'members people roles invitations users access',
  load: () => import('./team.tsx'),
};
