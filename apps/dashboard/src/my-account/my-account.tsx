import { PageHeader } from '../ui/page.tsx';

export default function MyAccount() {
  return <PageHeader title="My account" />;
}
