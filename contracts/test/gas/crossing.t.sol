// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalMessageTransmitter} from "../../local/LocalMessageTransmitter.sol";
import {LocalTokenMessenger} from "../../local/LocalTokenMessenger.sol";
import {PayoutVault} from "../../src/PayoutVault.sol";
import {IPaymentGateway} from "../../src/interfaces/IPaymentGateway.sol";
import {IPayoutVault} from "../../src/interfaces/IPayoutVault.sol";
import {SigningTest} from "../base/SigningTest.sol";

/// @notice What orders cost that settle on another chain, under the terms of `GatewayGas`. Circle's USDC is its own;
/// the messenger and transmitter of CCTP are our stand-ins, so Circle's part of a burn costs something else there.
/// forge-config: default.isolate = true
contract CrossingGas is SigningTest {
    uint256 private constant BATCH = 50;

    address internal cctpRoute;
    PayoutVault internal payoutVault;

    function setUp() public override {
        super.setUp();
        usdc = realUsdc;
        deployCctp();
        deployVault();
        address[5] memory holders = [payer, merchant, address(gateway), address(payoutVault), cctpRoute];
        for (uint256 i = 0; i < holders.length; ++i) {
            give(address(usdc), holders[i], 1_000_000e6);
        }
        // One order of each kind before, as on any gateway that lives: fees have accrued, and the vault has paid.
        settleOne(paid(CCTP, 1e6, "earlier, by CCTP"));
        settleOne(paid(VAULT_PAYOUT, 1e6, "earlier, into the vault"));
        IPayoutVault.Payout memory first = payoutOf(0);
        bytes memory signature = signPayout(first);
        vm.prank(settler);
        payoutVault.payout(first, signature);
    }

    function test_gas_payForCctp() public {
        paid(CCTP, 1e6, "now");
        record("pay by allowance, for CCTP", 95_500, 1);
    }

    function test_gas_settleByCctp() public {
        settleOne(paid(CCTP, 1e6, "now"));
        record("settle by CCTP, with a fee", 181_000, 1);
    }

    function test_gas_settleByCctpWithoutFee() public {
        settleOne(paid(CCTP, 0, "now"));
        record("settle by CCTP, without a fee", 177_000, 1);
    }

    function test_gas_settleIntoTheVault() public {
        settleOne(paid(VAULT_PAYOUT, 1e6, "now"));
        record("settle, single, into the vault", 71_000, 1);
    }

    function test_gas_payout() public {
        IPayoutVault.Payout memory p = payoutOf(1);
        bytes memory signature = signPayout(p);
        vm.prank(settler);
        payoutVault.payout(p, signature);
        record("payout", 105_000, 1);
    }

    function test_gas_payoutBatch() public {
        IPayoutVault.Payout[] memory payouts = new IPayoutVault.Payout[](BATCH);
        bytes[] memory signatures = new bytes[](BATCH);
        for (uint256 i = 0; i < BATCH; ++i) {
            payouts[i] = payoutOf(i + 1);
            signatures[i] = signPayout(payouts[i]);
        }
        vm.prank(settler);
        payoutVault.payoutBatch(payouts, signatures);
        record("payout, 50 to one merchant", 48_000, BATCH);
    }

    function deployCctp() private {
        (uint64[] memory chains, uint32[] memory domains) = (new uint64[](2), new uint32[](2));
        (chains[0], chains[1]) = (uint64(block.chainid), OTHER_CHAIN);
        domains[1] = 6;
        address circle = account("circle");
        address transmitter = address(new LocalMessageTransmitter(circle, account("attester"), chains, domains));
        LocalTokenMessenger messenger = new LocalTokenMessenger(circle, transmitter);
        cctpRoute = deploy("CctpRoute", abi.encode(address(messenger), chains, domains, address(gateway)));
        vm.prank(circle);
        messenger.setMaxBurnAmountPerMessage(address(usdc), 1_000_000e6);
        vm.prank(minter);
        usdc.configureMinter(address(messenger), 0);
    }

    function deployVault() private {
        payoutVault = PayoutVault(deploy("PayoutVault", abi.encode(controller)));
        vm.startPrank(controller);
        payoutVault.setSigner(signer, true);
        payoutVault.setSettler(settler, true);
        payoutVault.setCaps(address(usdc), 1_000e6, 100_000e6, 1_000_000e6);
        payoutVault.unpause();
        vm.stopPrank();
    }

    /// @dev Paid with the allowance that the service asks for, as the last call.
    function paid(uint8 orderType, uint256 fee, string memory key)
        private
        returns (IPaymentGateway.Order memory order)
    {
        order = plainOrder();
        (order.fee, order.metaData) = (fee, keccak256(bytes(key)));
        (order.orderType, order.targetChain) = (orderType, OTHER_CHAIN);
        order.via = orderType == CCTP ? cctpRoute : address(payoutVault);
        bytes memory signature = sign(order);
        allow(order.token, payer, order.total);
        payAs(payer, order, signature);
    }

    function payoutOf(uint256 seed) private view returns (IPayoutVault.Payout memory p) {
        (p.orderId, p.channelId, p.metaData) = (bytes32(pick(seed, 0)), bytes32(pick(seed, 1)), bytes32(pick(seed, 2)));
        (p.sourceChain, p.token, p.to, p.amount) = (OTHER_CHAIN, address(usdc), merchant, 99e6);
        p.deadline = uint64(block.timestamp + 30 days);
    }

    function signPayout(IPayoutVault.Payout memory p) private view returns (bytes memory) {
        return signDigest(keyOf("order signer"), payoutVault.payoutDigest(p));
    }

    /// @dev Records the whole transaction; the goal is for each of its orders.
    function record(string memory name, uint256 goal, uint256 orders) private {
        uint256 used = vm.snapshotGasLastCall("gateway", name) / orders;
        vm.assertLe(used, goal, name);
    }
}
