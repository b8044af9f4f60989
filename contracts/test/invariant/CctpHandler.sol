// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CctpRoute} from "../../src/CctpRoute.sol";
import {CctpTest} from "../base/CctpTest.sol";

/// @notice Burns on one chain, mints on the other in any order, replays, forges, and keeps its own books.
contract CctpHandler is CctpTest {
    struct Burn {
        bytes message;
        address to;
        uint256 amount;
        bool isMinted;
    }

    Burn[] private _burns;
    bytes private _codeHere;
    bytes private _codeThere;
    uint256 public burnt;
    uint256 public minted;
    mapping(address account => uint256) public owed;

    constructor() {
        CctpTest.setUp();
        _codeHere = address(messenger).code;
        atTarget();
        _codeThere = address(messenger).code;
        _goHere();
    }

    function send(uint256 seed) external {
        address to = _recipient(seed);
        uint256 amount = bound(pick(seed, 1), 1, usdc.balanceOf(gateway) / 4 + 1);
        if (amount > usdc.balanceOf(gateway)) return;
        vm.recordLogs();
        sendAsGateway(bytes32(pick(seed, 2)), amount > LIMIT ? LIMIT : amount, THERE, to);
        amount = amount > LIMIT ? LIMIT : amount;
        bytes memory message = complete(sentMessage(), keccak256(abi.encode("nonce", _burns.length)), 2000);
        _burns.push(Burn(message, to, amount, false));
        burnt += amount;
    }

    function sendWrongly(uint256 seed, address caller) external {
        uint64 target = pick(seed, 0) % 2 == 0 ? HERE : uint64(pick(seed, 1));
        if (caller == gateway && (target == THERE || target == FAR)) return;
        _mustFail(caller, address(route), abi.encodeCall(CctpRoute.send, ("o", address(usdc), 1, target, stranger)));
    }

    function mint(uint256 which, address caller) external {
        if (_burns.length == 0) return;
        Burn storage burn = _burns[which % _burns.length];
        _goThere();
        bytes memory attestation = attest(burn.message);
        if (burn.isMinted) {
            bytes memory data = abi.encodeCall(transmitterThere.receiveMessage, (burn.message, attestation));
            _mustFail(caller, address(transmitterThere), data);
        } else {
            vm.prank(caller);
            transmitterThere.receiveMessage(burn.message, attestation);
            burn.isMinted = true;
            minted += burn.amount;
            owed[burn.to] += burn.amount;
        }
        _goHere();
    }

    function forge(uint256 which, uint256 place) external {
        if (_burns.length == 0) return;
        bytes memory message = bytes.concat(_burns[which % _burns.length].message);
        bytes memory attestation = attest(message);
        message[place % message.length] ^= hex"40";
        _goThere();
        bytes memory data = abi.encodeCall(transmitterThere.receiveMessage, (message, attestation));
        _mustFail(stranger, address(transmitterThere), data);
        _goHere();
    }

    function supplies() external view returns (uint256 here, uint256 there) {
        return (usdc.totalSupply(), usdcThere.totalSupply());
    }

    function inFlight() external view returns (uint256 sum) {
        for (uint256 i = 0; i < _burns.length; ++i) {
            if (!_burns[i].isMinted) sum += _burns[i].amount;
        }
    }

    function recipients() external returns (address[3] memory) {
        return [_recipient(0), _recipient(1), _recipient(2)];
    }

    function received(address to) external view returns (uint256) {
        return usdcThere.balanceOf(to);
    }

    function residue() external view returns (uint256 tokens, uint256 approval) {
        return (usdc.balanceOf(address(route)), usdc.allowance(address(route), address(messenger)));
    }

    function funds() external pure returns (uint256) {
        return FUNDS;
    }

    function _recipient(uint256 seed) private returns (address) {
        return [merchant, account("second merchant"), account("third merchant")][seed % 3];
    }

    function _goThere() private {
        vm.chainId(THERE);
        vm.etch(address(messenger), _codeThere);
    }

    function _goHere() private {
        vm.chainId(HERE);
        vm.etch(address(messenger), _codeHere);
    }

    function _mustFail(address caller, address target, bytes memory data) private {
        vm.prank(caller);
        (bool success,) = target.call(data);
        vm.assertEq(success, false, "a call that must fail went through");
    }
}
