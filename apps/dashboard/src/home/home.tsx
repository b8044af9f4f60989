import { useMerchant } from '../app/merchant.ts';
import { PageHeader } from '../ui/page.tsx';

export default function Home() {
  return <PageHeader title="Home" description={useMerchant().merchantName} />;
}
