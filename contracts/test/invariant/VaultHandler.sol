// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPayoutVault} from "../../src/interfaces/IPayoutVault.sol";
import {VaultTest} from "../base/VaultTest.sol";

/// @notice Pays, repeats, forges, withdraws and lets time pass; keeps its own log of what has left.
contract VaultHandler is VaultTest {
    uint256 private constant IDS = 60;

    IPayoutVault.Payout[] private _paid;
    uint256[] private _paidAt;
    mapping(bytes32 orderId => bool) public isPaid;
    mapping(address token => uint256) public paidTotal;
    mapping(address token => uint256) public withdrawn;
    mapping(address token => mapping(uint256 hour => uint256)) public inHour;
    mapping(address token => mapping(uint256 day => uint256)) public inDay;

    constructor() {
        VaultTest.setUp();
    }

    function pay(uint256 seed, bool inBatch) external {
        IPayoutVault.Payout memory p = _any(seed);
        bool fits = !isPaid[p.orderId] && p.amount <= vault.available(p.token) && !vault.paused()
            && p.amount <= vault.capsOf(p.token).perOrder;
        bytes memory signature = sign(p);
        if (inBatch && !vault.paused()) {
            IPayoutVault.Payout[] memory payouts = new IPayoutVault.Payout[](2);
            bytes[] memory signatures = new bytes[](2);
            // The same twice: the second must do nothing.
            (payouts[0], payouts[1], signatures[0], signatures[1]) = (p, p, signature, signature);
            vm.prank(settler);
            vault.payoutBatch(payouts, signatures);
        } else if (fits) {
            payoutAs(settler, p, signature);
        } else {
            _mustFail(settler, abi.encodeCall(IPayoutVault.payout, (p, signature)));
        }
        if (fits) _book(p);
    }

    function payAgain(uint256 which, uint256 seed) external {
        if (_paid.length == 0) return;
        IPayoutVault.Payout memory p = _any(seed);
        p.orderId = _paid[which % _paid.length].orderId;
        _mustFail(settler, abi.encodeCall(IPayoutVault.payout, (p, sign(p))));
    }

    function forge(uint256 seed, bool bySigner) external {
        IPayoutVault.Payout memory p = _any(seed);
        p.to = stranger;
        if (bySigner) _mustFail(signer, abi.encodeCall(IPayoutVault.payout, (p, sign(p))));
        else _mustFail(settler, abi.encodeCall(IPayoutVault.payout, (p, signDigest(keyOf("settler"), digestOf(p)))));
    }

    /// @dev Away from normal once in four, back at once: most payouts are to succeed.
    function togglePause(uint256 seed) external {
        bool isPaused = vault.paused();
        if (!isPaused && seed % 4 != 0) return;
        vm.prank(isPaused ? controller : guardian);
        if (isPaused) vault.unpause();
        else vault.pause();
    }

    function withdraw(uint256 which, uint256 amount) external {
        address token = _token(which);
        amount = bound(amount, 0, usdc.balanceOf(address(vault)) / 4);
        if (token == address(usdt)) amount = bound(amount, 0, usdt.balanceOf(address(vault)) / 4);
        vm.prank(controller);
        vault.withdraw(token, controller, amount);
        withdrawn[token] += amount;
    }

    function passTime(uint16 time) external {
        vm.warp(block.timestamp + time);
    }

    function target() external view returns (IPayoutVault) {
        return vault;
    }

    function tokens() external view returns (address[2] memory) {
        return [address(usdc), address(usdt)];
    }

    function count() external view returns (uint256) {
        return _paid.length;
    }

    function paidAt(uint256 i) external view returns (IPayoutVault.Payout memory, uint256) {
        return (_paid[i], _paidAt[i]);
    }

    function recipient() external view returns (address) {
        return merchant;
    }

    function float() external pure returns (uint256) {
        return FLOAT;
    }

    function caps() external pure returns (uint256, uint256) {
        return (HOURLY, DAILY);
    }

    function _any(uint256 seed) private view returns (IPayoutVault.Payout memory p) {
        p = anyPayout(seed);
        p.orderId = bytes32(pick(seed, 50) % IDS + 1);
        p.token = _token(pick(seed, 51));
    }

    function _token(uint256 which) private view returns (address) {
        return which % 2 == 0 ? address(usdc) : address(usdt);
    }

    function _book(IPayoutVault.Payout memory p) private {
        isPaid[p.orderId] = true;
        _paid.push(p);
        _paidAt.push(block.timestamp);
        paidTotal[p.token] += p.amount;
        inHour[p.token][block.timestamp / 1 hours] += p.amount;
        inDay[p.token][block.timestamp / 1 days] += p.amount;
    }

    function _mustFail(address caller, bytes memory data) private {
        vm.prank(caller);
        (bool success,) = address(vault).call(data);
        vm.assertEq(success, false, "a call that must fail went through");
    }
}
