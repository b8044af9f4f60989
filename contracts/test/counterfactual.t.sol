// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalHostileWallet} from "../local/LocalHostileWallet.sol";
import {LocalSmartWallet} from "../local/LocalSmartWallet.sol";
import {LocalWalletFactory} from "../local/LocalWalletFactory.sol";
import {Test} from "./base/Test.sol";

/// @notice Deploys any code where it is known before, and nothing the second time.
contract AnyFactory {
    error NotDeployed();

    function deploy(bytes calldata creation) external {
        bytes memory code = creation;
        address deployed;
        assembly ("memory-safe") {
            deployed := create2(0, add(code, 0x20), mload(code), 0)
        }
        if (deployed == address(0)) revert NotDeployed();
    }

    function addressOf(bytes memory creation) external view returns (address) {
        bytes32 hash = keccak256(abi.encodePacked(hex"ff", address(this), bytes32(0), keccak256(creation)));
        return address(uint160(uint256(hash)));
    }
}

/// @notice Deploys an account, and reverts.
contract RegretfulFactory is AnyFactory {
    fallback() external {
        this.deploy(msg.data);
        revert NotDeployed();
    }
}

contract CounterfactualTest is Test {
    bytes32 private constant DIGEST = keccak256("digest");
    bytes32 private constant YES = bytes32(bytes4(0x1626ba7e));
    bytes32 private constant NO = bytes32(0);
    bytes32 private constant REFUSAL = bytes32(bytes4(0xffffffff));
    uint256 private constant KEY = 0x5eed;

    LocalWalletFactory private factory;
    AnyFactory private anyFactory;
    address private owner;

    function setUp() public {
        factory = new LocalWalletFactory();
        anyFactory = new AnyFactory();
        owner = vm.addr(KEY);
    }

    function test_saysYes_whenTheAccountTakesTheSignatureOnceDeployed(bytes32 salt) public {
        vm.assertEq(
            ask(factory.addressOf(owner, salt), address(factory), deployCall(salt), signDigest(KEY, DIGEST)),
            YES,
            "answer"
        );
    }

    function test_saysYes_whenTheAccountIsDeployed_withoutCallingTheFactory(bytes32 salt) public {
        address wallet = factory.deploy(owner, salt);
        vm.assertEq(
            ask(wallet, address(factory), deployCall(bytes32(uint256(salt) ^ 1)), signDigest(KEY, DIGEST)),
            YES,
            "answer"
        );
        vm.assertEq(factory.deployed(), uint256(1), "calls of the factory");
    }

    function test_passesTheRefusalOn_whenAnotherKeyHasSigned(uint256 seed) public {
        uint256 key = 1 + seed % 1e18;
        vm.assume(key != KEY);
        vm.assertEq(
            ask(factory.addressOf(owner, 0), address(factory), deployCall(0), signDigest(key, DIGEST)),
            REFUSAL,
            "answer"
        );
    }

    function test_saysNo_whenTheFactoryDeploysElsewhere(bytes32 salt) public {
        vm.assume(salt != 0);
        vm.assertEq(
            ask(factory.addressOf(owner, 0), address(factory), deployCall(salt), signDigest(KEY, DIGEST)), NO, "answer"
        );
    }

    function test_saysNo_whenTheFactoryDoesNothing(bytes calldata call) public {
        vm.assertEq(ask(factory.addressOf(owner, 0), account("nobody"), call, signDigest(KEY, DIGEST)), NO, "answer");
    }

    function test_saysNo_whenTheFactoryReverts() public {
        vm.assertEq(
            ask(factory.addressOf(owner, 0), address(factory), hex"deadbeef", signDigest(KEY, DIGEST)), NO, "answer"
        );
        RegretfulFactory regretful = new RegretfulFactory();
        bytes memory code = walletCode();
        vm.assertEq(
            ask(regretful.addressOf(code), address(regretful), code, signDigest(KEY, DIGEST)), NO, "deployed and undone"
        );
    }

    function test_saysNo_whenAKeyWithoutCodeHasSigned() public {
        vm.assertEq(ask(owner, account("nobody"), "", signDigest(KEY, DIGEST)), NO, "answer");
    }

    function test_saysNo_whenAPrecompiledContractAnswers() public {
        for (uint160 number = 1; number <= 10; ++number) {
            vm.assertEq(ask(address(number), account("nobody"), "", signDigest(KEY, DIGEST)), NO, vm.toString(number));
        }
    }

    function test_saysNo_whenTheFactoryAnswersForTheAccount() public {
        LocalHostileWallet eager = new LocalHostileWallet(LocalHostileWallet.Mode.Accept);
        vm.assertEq(ask(owner, address(eager), "", signDigest(KEY, DIGEST)), NO, "answer");
    }

    function test_saysYes_toOneWordAlone() public {
        for (uint8 mode = 0; mode <= uint8(type(LocalHostileWallet.Mode).max); ++mode) {
            if (mode == uint8(LocalHostileWallet.Mode.BurnGas) || mode == uint8(LocalHostileWallet.Mode.Trap)) {
                continue;
            }
            if (mode == uint8(LocalHostileWallet.Mode.EvenBlocks)) continue;
            bytes memory code = abi.encodePacked(type(LocalHostileWallet).creationCode, abi.encode(mode));
            bytes32 answer = askAny(code);
            bool isRight = mode == uint8(LocalHostileWallet.Mode.Accept);
            vm.assertEq(answer == YES, isRight, vm.toString(mode));
        }
    }

    function test_saysNo_whenTheAccountBurnsItsGas() public {
        bytes memory creation = type(LocalHostileWallet).creationCode;
        bytes memory burning = abi.encodePacked(creation, abi.encode(LocalHostileWallet.Mode.BurnGas));
        vm.assertEq(this.askAny{gas: 5_000_000}(burning), NO, "burnt");
        bytes memory trapping = abi.encodePacked(creation, abi.encode(LocalHostileWallet.Mode.Trap));
        vm.assertEq(this.askAny{gas: 5_000_000}(trapping), NO, "trapped");
    }

    function test_passesTheSignatureOn_whateverItsLength(bytes calldata signature) public {
        bytes memory creation = type(EchoWallet).creationCode;
        bytes memory code = abi.encodePacked(creation, abi.encode(DIGEST, keccak256(signature)));
        bytes memory call = abi.encodeCall(AnyFactory.deploy, (code));
        vm.assertEq(ask(anyFactory.addressOf(code), address(anyFactory), call, signature), YES, "answer");
    }

    function askAny(bytes memory code) public returns (bytes32) {
        bytes memory call = abi.encodeCall(AnyFactory.deploy, (code));
        return ask(anyFactory.addressOf(code), address(anyFactory), call, signDigest(KEY, DIGEST));
    }

    /// @dev What an `eth_call` without a recipient answers is the code that the creation would leave.
    function ask(address wallet, address deployer, bytes memory call, bytes memory signature)
        private
        returns (bytes32)
    {
        bytes memory code = abi.encodePacked(
            vm.getCode(artifactOf("CounterfactualSignature")), abi.encode(wallet, DIGEST, deployer, call, signature)
        );
        address question;
        assembly ("memory-safe") {
            question := create(0, add(code, 0x20), mload(code))
        }
        vm.assertEq(question.code.length, uint256(32), "one word");
        return bytes32(question.code);
    }

    function deployCall(bytes32 salt) private view returns (bytes memory) {
        return abi.encodeCall(LocalWalletFactory.deploy, (owner, salt));
    }

    function walletCode() private view returns (bytes memory) {
        return abi.encodePacked(type(LocalSmartWallet).creationCode, abi.encode(owner));
    }
}

/// @notice Takes one signature of one digest.
contract EchoWallet {
    bytes32 private immutable DIGEST;
    bytes32 private immutable HASH;

    constructor(bytes32 digest, bytes32 hash) {
        (DIGEST, HASH) = (digest, hash);
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        bool isKnown = digest == DIGEST && keccak256(signature) == HASH;
        return isKnown ? EchoWallet.isValidSignature.selector : bytes4(0);
    }
}
