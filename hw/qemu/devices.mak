# SPDX-License-Identifier: GPL-2.0-or-later
#
# Devices of the minimal x86_64-softmmu target (--with-devices-x86_64=irqbed).
# Everything starts from "no device at all": what is not listed here, or
# selected by something listed here, is not built.

CONFIG_IRQBED=y
CONFIG_IRQBED_CTL=y

# Machines: q35 runs the experiments; i440fx is there for QEMU's qos-test,
# which finds no test without it.
CONFIG_Q35=y
CONFIG_I440FX=y

# Peers that experiments and tests compare with.
CONFIG_UFS_PCI=y
CONFIG_NVME_PCI=y
CONFIG_AHCI_ICH9=y

# hw/ufs links scsi-bus without selecting it.
CONFIG_SCSI=y

# Topology: root ports and switches, an IOMMU, and an exit port for tests.
CONFIG_PCIE_PORT=y
CONFIG_XIO3130=y
CONFIG_IOH3420=y
CONFIG_VTD=y
CONFIG_ISA_DEBUG=y
CONFIG_TEST_DEVICES=y
CONFIG_SERIAL_PCI=y
